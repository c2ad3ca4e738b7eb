// ONNX models written by hand, with the few fields of onnx.proto3 that a graph of products needs, and the engine
// that runs them.

const utf8 = new TextEncoder();
const types = { floats: 1, wholes: 7 };
/** A version of the operators that has Gelu, and the version of the format that goes with it. */
const [opset, format] = [20, 9];

const varint = (value) => (value < 128 ? [value] : [128 + (value % 128), ...varint(Math.floor(value / 128))]);

/** A message from its fields' numbers and values: whole numbers, text, bytes, or the fields of a message. */
function message(fields) {
  const parts = fields.flatMap(([field, value]) => {
    if (typeof value === 'number') return [varint(8 * field), varint(value)];
    const bytes =
      typeof value === 'string' ? utf8.encode(value) : Array.isArray(value) ? message(value) : value;
    return [varint(8 * field + 2), varint(bytes.length), bytes];
  });
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The fields of an input or output of floats. */
const described = (name, dims) => [
  [1, name],
  [2, [[1, [[1, types.floats], ...dims.map((shape) => [2, shape.map((dim) => [1, [[1, dim]]])])]]]],
];

/** Attributes are whole numbers or lists of them. */
const attribute = ([name, value]) =>
  Array.isArray(value)
    ? [[1, name], ...value.map((one) => [8, one]), [20, 7]]
    : [
        [1, name],
        [3, value],
        [20, 2],
      ];

/**
 * A model of tables by name. `build` is given op(), which adds a node and returns its output, constant(), and shorter
 * names of some operators; it returns the names of the outputs.
 */
function modelOf(tables, build) {
  const nodes = [];
  const constants = [];
  const op = (type, inputs, attributes = {}) => {
    const output = `${type}-${nodes.length}`;
    const named = [...inputs.map((name) => [1, name]), [2, output], [4, type]];
    nodes.push([...named, ...Object.entries(attributes).map((one) => [5, attribute(one)])]);
    return output;
  };
  /** Floats of these dimensions, or a list of whole numbers. */
  const constant = (values, dims = [values.length]) => {
    const name = `constant-${constants.length}`;
    const floats = values instanceof Float32Array;
    const { buffer } = floats ? values : BigInt64Array.from(values, BigInt);
    const type = floats ? types.floats : types.wholes;
    constants.push([...dims.map((dim) => [1, dim]), [2, type], [8, name], [9, new Uint8Array(buffer)]]);
    return name;
  };
  const outputs = build({
    op,
    constant,
    matMul: (a, b) => op('MatMul', [a, b]),
    reshape: (rows, dims) => op('Reshape', [rows, constant(dims)]),
    transpose: (rows, perm) => op('Transpose', [rows], { perm }),
    concat: (parts) => op('Concat', parts, { axis: 0 }),
  });
  const inputs = Object.entries(tables).map(([name, { rows, columns }]) =>
    described(name, [[rows, columns]]),
  );
  const graph = [
    ...nodes.map((node) => [1, node]),
    [2, 'graph'],
    ...constants.map((one) => [5, one]),
    ...inputs.map((one) => [11, one]),
    ...outputs.map((name) => [12, described(name, [])]),
  ];
  return message([
    [1, format],
    [7, graph],
    [8, [[2, opset]]],
  ]);
}

/** Runs the graph that `build` makes for an input, on its summands. An answer is a list of outputs. */
export const onnxruntime = (ort, kind, build) => ({
  name: `onnxruntime-web${kind}`,
  peer: true,
  async prepare(input) {
    const model = modelOf(input.summands, (graph) => build(graph, input));
    const session = await ort.InferenceSession.create(model, {
      executionProviders: ['wasm'],
      graphOptimizationLevel: 'all',
    });
    const feeds = {};
    for (const [name, { data, rows, columns }] of Object.entries(input.summands))
      feeds[name] = new ort.Tensor('float32', data, [rows, columns]);
    return {
      async run() {
        const outputs = await session.run(feeds);
        return session.outputNames.map((output) => outputs[output].data);
      },
      release: () => session.release(),
    };
  },
});
