// Superpose: adding and concatenating position embeddings, computed in C++ and WebAssembly. The same module
// runs in a page, a worker and Node. The types that a function takes and returns are exported where the
// function is listed: smallModule.ts, fullModule.ts. What has an entry of its own in the reference names its
// group with @category; a type is shown beside the function that uses it.
export type { NoRoom } from './check.js';
export { Unreadable, type Watch } from './files.js';
export type * from './fullModule.js';
export type { Handle } from './handle.js';
export { load } from './load.js';
export { corpusSentences } from './model/corpus.js';
export type { CorpusMeans } from './model/corpusMeans.js';
export type { CsvDecimal, CsvLayout, CsvOptions, CsvSeparator } from './model/csv.js';
export { type FamilyId, familyLabels, familyNames } from './model/families.js';
export type { FirstLayer } from './model/firstLayer.js';
export { loadMiniLM, type MiniLM } from './model/minilm.js';
export type { MiniLMOptions } from './model/minilmFiles.js';
export type { SummandRows } from './model/model.js';
export type {
  ByGauge,
  ModelReport,
  ReportedTable,
  RotaryReport,
} from './model/modelReport.js';
export type {
  OpenCorpusMeansOptions,
  OpenDecomposeOptions,
  OpenedModel,
  OpenForwardOptions,
  OpenModelOptions,
  PositionChange,
  PositionsRemoved,
} from './model/openedModel.js';
export { openModel } from './model/openModel.js';
export { type OpenedTable, type OpenTableOptions, openTable, type TableFormat } from './model/openTable.js';
export { FamilyUnknown } from './model/recognize.js';
export type { SlidingWindow } from './model/rotaryConfig.js';
export type { ModelInput, Sentence } from './model/sentences.js';
export type { Slices, Source } from './model/slices.js';
export type { SlicesWatch } from './model/watch.js';
export { type LoadOptions, type ModuleName, type Simd, supportedSimd, wasmAddress } from './module.js';
export type { SchemeId } from './scores/schemeInputs.js';
export { anovaTerms, logitsOf, pairTerms, schemeTermOf, sharesOf, termOf } from './scores/scores.js';
export type * from './smallModule.js';
export type { Floats, Ids, Integers, Linear, OwnBytes, Table, Tensor } from './table.js';
