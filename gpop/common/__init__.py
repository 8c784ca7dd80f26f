"""What every room uses: errors, memory, threads, atomics, progress. Knows nothing of graphs.

==================  ==========================================================================
compiled code       ``cached`` (the way to say it), ``kernel``, ``kinds``, ``callback``, ``inlined``,
                    ``inlined_parts``, ``by_reference``, ``reference_type``, ``by_address``,
                    ``foreign``
kept on disk        ``machine_code``, ``kernel_folder``, ``elf``, ``ahead``, ``deferred``
Numba               ``numba_private``, ``numba_version``, ``compile_faster``,
                    ``typing_faster``, ``lean_arrays``, ``branches``
in kernels          ``atomics``, ``vectors``, ``bits``, ``random_bits``, ``shell`` (a sort)
threads             ``parallel``, ``standby``, ``own_core``, ``interrupts``
memory              ``memory``, ``arrays``, ``used_pages``, ``private_pages``, ``spill``
files               ``replacing``, ``replacing_folder``, ``write_arrays``, ``user_folder``,
                    ``array_hash``
what is given       ``arguments``, ``flags``, ``byte_sizes``, ``spelling``, ``errors``, ``alike``
what people see     ``command``, ``starting``, ``progress``, ``charts``, ``html``, ``histogram``,
                    ``machine``
ways round          ``above``, ``others``, ``launched``, ``on_demand``
==================  ==========================================================================
"""
