"""Tables of the result store, as a list of migrations: store version v is the first v of them.

Version 1 holds the tables of M. Verstraaten's thesis (appendix A) but those for trained models. Version 2
adds what the thesis misses (operating system, processor, where a dataset comes from) and what CPU programs
need: threads in a run configuration, the version of each implementation measured, medians, what a run did in
each step, and failed attempts. Its views are what readers of results use: ``Missing``, ``Result``,
``StepResult``, ``StepValue``. Version 3 has trained models (thesis, T-48 to T-52) and the log they are
trained on, ``StepLog``: a row for each strategy (a mode, or a strategy by name, with partitions and ratio as
they come), target, platform, graph, variant and step, with seconds, active vertices and edges, and messages;
features of graphs and steps are in GraphPropValue and StepPropValue, under the names of
`gpop.model.features`.

Times are in seconds. ``flags`` are JSON objects. ``Variant.result`` is the hash of the right answer, for
whole-number answers only. ``Run.validated`` is 1 only if the run's answer was compared and right.
"""

THESIS = """
CREATE TABLE GlobalVars(name TEXT PRIMARY KEY, value);

CREATE TABLE Platform(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, prettyName TEXT, flags TEXT,
    available INTEGER NOT NULL DEFAULT 1, isDefault BOOL NOT NULL DEFAULT 0);

CREATE TABLE Dataset(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

CREATE TABLE Graph(
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, path TEXT NOT NULL UNIQUE, prettyName TEXT,
    datasetId INTEGER NOT NULL REFERENCES Dataset(id), timestamp TEXT NOT NULL,
    UNIQUE(name, datasetId));

CREATE TABLE Algorithm(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, prettyName TEXT);

CREATE TABLE Implementation(
    id INTEGER PRIMARY KEY, algorithmId INTEGER NOT NULL REFERENCES Algorithm(id), name TEXT NOT NULL,
    prettyName TEXT, flags TEXT, type TEXT NOT NULL CHECK(type IN ('Core', 'Derived', 'Builtin')),
    timestamp TEXT NOT NULL, UNIQUE(algorithmId, name), UNIQUE(id, algorithmId));

CREATE TABLE VariantConfig(
    id INTEGER PRIMARY KEY, algorithmId INTEGER NOT NULL REFERENCES Algorithm(id), name TEXT NOT NULL,
    flags TEXT, isDefault BOOL NOT NULL DEFAULT 0, timestamp TEXT NOT NULL,
    UNIQUE(algorithmId, name), UNIQUE(algorithmId, flags), UNIQUE(id, algorithmId));
CREATE UNIQUE INDEX OneDefaultVariantConfig ON VariantConfig(algorithmId) WHERE isDefault;

CREATE TABLE Variant(
    id INTEGER PRIMARY KEY, graphId INTEGER NOT NULL REFERENCES Graph(id), variantConfigId INTEGER NOT NULL,
    algorithmId INTEGER NOT NULL, result BLOB, maxStepId INTEGER NOT NULL DEFAULT 0,
    propsStored BOOL NOT NULL DEFAULT 0, retryCount INTEGER NOT NULL DEFAULT 0,
    UNIQUE(graphId, variantConfigId), UNIQUE(id, algorithmId),
    FOREIGN KEY(variantConfigId, algorithmId) REFERENCES VariantConfig(id, algorithmId));

CREATE TABLE RunConfig(
    id INTEGER PRIMARY KEY, algorithmId INTEGER NOT NULL REFERENCES Algorithm(id),
    platformId INTEGER NOT NULL REFERENCES Platform(id), datasetId INTEGER NOT NULL REFERENCES Dataset(id),
    algorithmVersion TEXT NOT NULL, repeats INTEGER NOT NULL CHECK(repeats > 0),
    UNIQUE(algorithmId, platformId, datasetId, algorithmVersion), UNIQUE(id, algorithmId));

CREATE TABLE Run(
    id INTEGER PRIMARY KEY, runConfigId INTEGER NOT NULL, variantId INTEGER NOT NULL, implId INTEGER NOT NULL,
    algorithmId INTEGER NOT NULL, timestamp TEXT NOT NULL, validated BOOL NOT NULL DEFAULT 0,
    UNIQUE(runConfigId, variantId, implId, algorithmId), UNIQUE(id, variantId),
    FOREIGN KEY(runConfigId, algorithmId) REFERENCES RunConfig(id, algorithmId),
    FOREIGN KEY(variantId, algorithmId) REFERENCES Variant(id, algorithmId),
    FOREIGN KEY(implId, algorithmId) REFERENCES Implementation(id, algorithmId));

CREATE TABLE PropertyName(
    id INTEGER PRIMARY KEY, property TEXT NOT NULL UNIQUE, isStepProp BOOL NOT NULL);

CREATE TABLE GraphPropValue(
    graphId INTEGER NOT NULL REFERENCES Graph(id), propId INTEGER NOT NULL REFERENCES PropertyName(id),
    value REAL NOT NULL, PRIMARY KEY(graphId, propId)) WITHOUT ROWID;

CREATE TABLE StepProp(
    propId INTEGER NOT NULL REFERENCES PropertyName(id),
    algorithmId INTEGER NOT NULL REFERENCES Algorithm(id),
    PRIMARY KEY(propId, algorithmId)) WITHOUT ROWID;

CREATE TABLE StepPropValue(
    variantId INTEGER NOT NULL, stepId INTEGER NOT NULL, propId INTEGER NOT NULL,
    algorithmId INTEGER NOT NULL, value REAL NOT NULL, PRIMARY KEY(variantId, stepId, propId),
    FOREIGN KEY(variantId, algorithmId) REFERENCES Variant(id, algorithmId),
    FOREIGN KEY(propId, algorithmId) REFERENCES StepProp(propId, algorithmId)) WITHOUT ROWID;

CREATE TABLE TotalTimer(
    runId INTEGER NOT NULL REFERENCES Run(id), name TEXT NOT NULL,
    minTime REAL NOT NULL, avgTime REAL NOT NULL, maxTime REAL NOT NULL, stdDev REAL NOT NULL,
    PRIMARY KEY(runId, name)) WITHOUT ROWID;

CREATE TABLE StepTimer(
    runId INTEGER NOT NULL, variantId INTEGER NOT NULL, stepId INTEGER NOT NULL, name TEXT NOT NULL,
    minTime REAL NOT NULL, avgTime REAL NOT NULL, maxTime REAL NOT NULL, stdDev REAL NOT NULL,
    PRIMARY KEY(runId, stepId, name),
    FOREIGN KEY(runId, variantId) REFERENCES Run(id, variantId)) WITHOUT ROWID;

CREATE TABLE ExternalImpl(
    id INTEGER PRIMARY KEY, algorithmId INTEGER NOT NULL REFERENCES Algorithm(id), name TEXT NOT NULL,
    prettyName TEXT, UNIQUE(algorithmId, name), UNIQUE(id, algorithmId));

CREATE TABLE ExternalTimer(
    platformId INTEGER NOT NULL REFERENCES Platform(id), variantId INTEGER NOT NULL, implId INTEGER NOT NULL,
    algorithmId INTEGER NOT NULL, name TEXT NOT NULL,
    minTime REAL NOT NULL, avgTime REAL NOT NULL, maxTime REAL NOT NULL, stdDev REAL NOT NULL,
    PRIMARY KEY(platformId, variantId, implId, algorithmId, name),
    FOREIGN KEY(variantId, algorithmId) REFERENCES Variant(id, algorithmId),
    FOREIGN KEY(implId, algorithmId) REFERENCES ExternalImpl(id, algorithmId)) WITHOUT ROWID;
"""

CPU = """
ALTER TABLE Platform ADD COLUMN facts TEXT;
ALTER TABLE Dataset ADD COLUMN origin TEXT;
ALTER TABLE Graph ADD COLUMN hash TEXT;
ALTER TABLE Run ADD COLUMN version TEXT;
ALTER TABLE Run ADD COLUMN fault TEXT;
ALTER TABLE Run ADD COLUMN error REAL;
ALTER TABLE TotalTimer ADD COLUMN medianTime REAL;
ALTER TABLE StepTimer ADD COLUMN medianTime REAL;
ALTER TABLE StepTimer ADD COLUMN samples INTEGER;

CREATE TABLE NewRunConfig(
    id INTEGER PRIMARY KEY, algorithmId INTEGER NOT NULL REFERENCES Algorithm(id),
    platformId INTEGER NOT NULL REFERENCES Platform(id), datasetId INTEGER NOT NULL REFERENCES Dataset(id),
    algorithmVersion TEXT NOT NULL, repeats INTEGER NOT NULL CHECK(repeats > 0),
    threads INTEGER NOT NULL CHECK(threads > 0),
    UNIQUE(algorithmId, platformId, datasetId, algorithmVersion, threads), UNIQUE(id, algorithmId));
INSERT INTO NewRunConfig
    SELECT id, algorithmId, platformId, datasetId, algorithmVersion, repeats, 1 FROM RunConfig;
DROP TABLE RunConfig;
ALTER TABLE NewRunConfig RENAME TO RunConfig;

CREATE TABLE NewExternalTimer(
    platformId INTEGER NOT NULL REFERENCES Platform(id), variantId INTEGER NOT NULL, implId INTEGER NOT NULL,
    algorithmId INTEGER NOT NULL, name TEXT NOT NULL,
    threads INTEGER NOT NULL CHECK(threads > 0), version TEXT,
    minTime REAL NOT NULL, avgTime REAL NOT NULL, maxTime REAL NOT NULL, stdDev REAL NOT NULL,
    PRIMARY KEY(platformId, variantId, implId, algorithmId, name, threads),
    FOREIGN KEY(variantId, algorithmId) REFERENCES Variant(id, algorithmId),
    FOREIGN KEY(implId, algorithmId) REFERENCES ExternalImpl(id, algorithmId)) WITHOUT ROWID;
INSERT INTO NewExternalTimer
    SELECT platformId, variantId, implId, algorithmId, name, 1, NULL, minTime, avgTime, maxTime, stdDev
    FROM ExternalTimer;
DROP TABLE ExternalTimer;
ALTER TABLE NewExternalTimer RENAME TO ExternalTimer;

CREATE TABLE RunStepValue(
    runId INTEGER NOT NULL REFERENCES Run(id), stepId INTEGER NOT NULL,
    propId INTEGER NOT NULL REFERENCES PropertyName(id), value REAL NOT NULL,
    PRIMARY KEY(runId, stepId, propId)) WITHOUT ROWID;

CREATE TABLE Attempt(
    runConfigId INTEGER NOT NULL REFERENCES RunConfig(id), variantId INTEGER NOT NULL REFERENCES Variant(id),
    implId INTEGER NOT NULL REFERENCES Implementation(id), retryCount INTEGER NOT NULL, message TEXT NOT NULL,
    timestamp TEXT NOT NULL, PRIMARY KEY(runConfigId, variantId, implId)) WITHOUT ROWID;

CREATE VIEW Missing AS
    SELECT rc.id AS runConfigId, v.id AS variantId, i.id AS implId, rc.algorithmId, rc.platformId,
        d.name AS dataset, g.id AS graphId, g.name AS graph, g.path, g.hash AS graphHash,
        a.name AS algorithm, i.name AS implementation, i.flags AS implFlags,
        vc.name AS variant, vc.flags AS variantFlags, v.result, v.propsStored,
        rc.threads, rc.repeats, rc.algorithmVersion, coalesce(t.retryCount, 0) AS retryCount, t.message
    FROM RunConfig rc
    JOIN Algorithm a ON a.id = rc.algorithmId
    JOIN Dataset d ON d.id = rc.datasetId
    JOIN Graph g ON g.datasetId = rc.datasetId
    JOIN Variant v ON v.graphId = g.id AND v.algorithmId = rc.algorithmId
    JOIN VariantConfig vc ON vc.id = v.variantConfigId
    JOIN Implementation i ON i.algorithmId = rc.algorithmId
    LEFT JOIN Attempt t ON t.runConfigId = rc.id AND t.variantId = v.id AND t.implId = i.id
    WHERE NOT EXISTS (
        SELECT 1 FROM Run r WHERE r.runConfigId = rc.id AND r.variantId = v.id AND r.implId = i.id)
    ORDER BY g.id, rc.threads, a.id, v.id, i.id;

CREATE VIEW RunName AS
    SELECT r.id AS runId, p.name AS platform, d.name AS dataset, g.name AS graph, a.name AS algorithm,
        vc.name AS variant, i.name AS implementation, rc.repeats, rc.algorithmVersion, r.version,
        coalesce(json_extract(i.flags, '$.threads'), rc.threads) AS threads, r.timestamp, r.validated,
        r.fault, r.error, r.variantId, r.implId, r.runConfigId
    FROM Run r
    JOIN RunConfig rc ON rc.id = r.runConfigId
    JOIN Platform p ON p.id = rc.platformId
    JOIN Dataset d ON d.id = rc.datasetId
    JOIN Variant v ON v.id = r.variantId
    JOIN Graph g ON g.id = v.graphId
    JOIN VariantConfig vc ON vc.id = v.variantConfigId
    JOIN Algorithm a ON a.id = r.algorithmId
    JOIN Implementation i ON i.id = r.implId;

CREATE VIEW Result AS
    SELECT platform, dataset, graph, algorithm, variant, implementation, threads, version, t.name AS timer,
        minTime, avgTime, medianTime, maxTime, stdDev, repeats, 'own' AS source, n.runId, n.variantId
    FROM RunName n JOIN TotalTimer t ON t.runId = n.runId WHERE validated
    UNION ALL
    SELECT p.name, d.name, g.name, a.name, vc.name, i.name, t.threads, t.version, t.name,
        minTime, avgTime, avgTime, maxTime, stdDev, NULL, 'external', NULL, t.variantId
    FROM ExternalTimer t
    JOIN Platform p ON p.id = t.platformId
    JOIN Variant v ON v.id = t.variantId
    JOIN Graph g ON g.id = v.graphId
    JOIN Dataset d ON d.id = g.datasetId
    JOIN VariantConfig vc ON vc.id = v.variantConfigId
    JOIN Algorithm a ON a.id = t.algorithmId
    JOIN ExternalImpl i ON i.id = t.implId;

CREATE VIEW StepResult AS
    SELECT platform, dataset, graph, algorithm, variant, implementation, threads, version, t.stepId AS step,
        t.name AS timer, minTime, avgTime, medianTime, maxTime, stdDev, samples, n.runId, n.variantId
    FROM RunName n JOIN StepTimer t ON t.runId = n.runId WHERE validated;

CREATE VIEW StepValue AS
    SELECT platform, dataset, graph, algorithm, variant, implementation, threads, s.stepId AS step,
        q.property, s.value, n.runId, n.variantId
    FROM RunName n
    JOIN RunStepValue s ON s.runId = n.runId
    JOIN PropertyName q ON q.id = s.propId
    WHERE validated;
"""

LEARNING = """
CREATE TABLE PredictionModel(
    id INTEGER PRIMARY KEY, platformId INTEGER NOT NULL REFERENCES Platform(id),
    algorithmId INTEGER NOT NULL REFERENCES Algorithm(id), algorithmVersion TEXT NOT NULL,
    name TEXT NOT NULL UNIQUE, prettyName TEXT, description TEXT, model BLOB NOT NULL,
    target TEXT NOT NULL, threads INTEGER NOT NULL, skipIncomplete BOOL NOT NULL,
    trainGraphs REAL NOT NULL, trainVariants REAL NOT NULL, trainSteps REAL NOT NULL,
    trainSeed INTEGER NOT NULL, totalUnknownCount INTEGER NOT NULL, provenance TEXT NOT NULL,
    timestamp TEXT NOT NULL);

CREATE TABLE ModelTrainDataset(
    modelId INTEGER NOT NULL REFERENCES PredictionModel(id),
    datasetId INTEGER NOT NULL REFERENCES Dataset(id), PRIMARY KEY(modelId, datasetId)) WITHOUT ROWID;

CREATE TABLE ModelProperty(
    modelId INTEGER NOT NULL REFERENCES PredictionModel(id),
    propId INTEGER NOT NULL REFERENCES PropertyName(id), propertyIdx INTEGER NOT NULL,
    importance REAL NOT NULL, PRIMARY KEY(modelId, propId)) WITHOUT ROWID;

CREATE TABLE UnknownPrediction(
    id INTEGER PRIMARY KEY, modelId INTEGER NOT NULL REFERENCES PredictionModel(id),
    algorithmId INTEGER NOT NULL REFERENCES Algorithm(id), unknownSetId INTEGER NOT NULL,
    count INTEGER NOT NULL, UNIQUE(modelId, unknownSetId));

CREATE TABLE UnknownPredictionSet(
    unknownPredId INTEGER NOT NULL REFERENCES UnknownPrediction(id),
    implId INTEGER NOT NULL REFERENCES Implementation(id),
    algorithmId INTEGER NOT NULL REFERENCES Algorithm(id),
    PRIMARY KEY(unknownPredId, implId)) WITHOUT ROWID;

UPDATE Variant SET propsStored = 0;

UPDATE Implementation SET type = 'Derived' WHERE type = 'Core'
    AND coalesce(json_extract(flags, '$.mode'), 'auto') = 'auto';

CREATE VIEW StepLog AS
    SELECT json_extract(i.flags, '$.mode') AS strategy,
        coalesce(json_extract(i.flags, '$.target'), 'cpu') AS target,
        coalesce(json_extract(i.flags, '$.model'), 'engine') AS model, i.type,
        n.platform, n.dataset, n.graph, n.algorithm, n.variant, n.threads, n.algorithmVersion,
        n.implementation, n.implId, n.variantId, v.graphId, n.runId, n.timestamp, t.stepId AS step,
        t.medianTime AS seconds, t.minTime, t.avgTime, t.maxTime, t.stdDev, t.samples,
        f.value AS frontier, e.value AS edges, m.value AS messages
    FROM RunName n
    JOIN Implementation i ON i.id = n.implId
    JOIN Variant v ON v.id = n.variantId
    JOIN StepTimer t ON t.runId = n.runId AND t.name = 'iteration'
    JOIN RunStepValue f ON f.runId = n.runId AND f.stepId = t.stepId
        AND f.propId = (SELECT id FROM PropertyName WHERE property = 'frontier')
    JOIN RunStepValue e ON e.runId = n.runId AND e.stepId = t.stepId
        AND e.propId = (SELECT id FROM PropertyName WHERE property = 'active_edges')
    JOIN RunStepValue m ON m.runId = n.runId AND m.stepId = t.stepId
        AND m.propId = (SELECT id FROM PropertyName WHERE property = 'messages')
    WHERE n.validated AND json_extract(i.flags, '$.family') = 'gpop'
        AND json_extract(i.flags, '$.mode') IS NOT NULL
        AND NOT coalesce(json_extract(i.flags, '$.interleave'), 0)
        AND coalesce(json_extract(i.flags, '$.partition_size'), json_extract(i.flags, '$.ratio')) IS NULL;
"""

MIGRATIONS = (THESIS, CPU, LEARNING)

VERSION = len(MIGRATIONS)
"""The version that this code writes; older stores are migrated when opened, newer ones refused."""
