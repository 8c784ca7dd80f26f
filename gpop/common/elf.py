"""The names that an object file wants of others, read off its table of symbols.

Layout: ELF of 64 bits, little endian (*Tool Interface Standard, ELF Specification 1.2*, and its extension to
64 bits). A name that nobody has would end the process when LLVM links the file, so that one looks first.
"""

from __future__ import annotations

from struct import iter_unpack, unpack_from

MAGIC = b"\x7fELF\x02\x01"
SECTION = "<IIQQQQIIQQ"
"""Name, type, flags, address, offset, size, link, info, alignment, size of an entry."""

SYMBOL = "<IBBHQQ"
"""Name, binding and type, visibility, section, value, size."""

TABLE, UNDEFINED = 2, 0


def undefined_names(file: bytes) -> list[str] | None:
    """What others must have; None where this is no such file."""
    if not file.startswith(MAGIC):
        return None
    (at,), (count,) = unpack_from("<Q", file, 0x28), unpack_from("<H", file, 0x3C)
    sections = [unpack_from(SECTION, file, at + 64 * i) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind != TABLE:
            continue
        strings = sections[link][4]
        for name, _, _, section, _, _ in iter_unpack(SYMBOL, file[offset : offset + size]):
            if name and section == UNDEFINED:
                begin = strings + name
                names.add(file[begin : file.index(b"\0", begin)].decode())
    return sorted(names)
