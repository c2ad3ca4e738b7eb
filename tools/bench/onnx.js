// Builds ONNX models of graphs of products, and runs them with onnxruntime-web.
import protobuf from 'protobufjs';

/** The part of onnx.proto3 that such a graph needs. */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message Model { int64 ir_version = 1; Graph graph = 7; repeated OperatorSet opset_import = 8; }
  message OperatorSet { int64 version = 2; }
  message Graph {
    repeated Node node = 1; string name = 2; repeated Tensor initializer = 5;
    repeated ValueInfo input = 11; repeated ValueInfo output = 12;
  }
  message Node { repeated string input = 1; repeated string output = 2; string op_type = 4; repeated Attribute attribute = 5; }
  message Attribute { string name = 1; int64 i = 3; repeated int64 ints = 8; int32 type = 20; }
  message Tensor { repeated int64 dims = 1; int32 data_type = 2; string name = 8; bytes raw_data = 9; }
  message ValueInfo { string name = 1; Type type = 2; }
  message Type { TensorType tensor_type = 1; }
  message TensorType { int32 elem_type = 1; Shape shape = 2; }
  message Shape { repeated Dimension dim = 1; }
  message Dimension { int64 dim_value = 1; }`,
  { keepCase: true },
);
const Model = root.lookupType('Model');
const types = { float: 1, int64: 7 };

/** An input or output of floats; of any shape without `dims`. */
const valueInfo = (name, dims) => {
  const shape = dims && { dim: dims.map((dim_value) => ({ dim_value })) };
  return { name, type: { tensor_type: { elem_type: types.float, shape } } };
};

/** An attribute, which is a whole number or a list of them. */
const attribute = ([name, value]) =>
  Array.isArray(value) ? { name, ints: value, type: 7 } : { name, i: value, type: 2 };

/**
 * A model with tables as inputs. `build` gets op(), which adds a node and returns its output, constant(),
 * and shorter names of some operators; it returns the names of the outputs.
 */
function modelOf(tables, build) {
  const node = [];
  const initializer = [];
  const op = (op_type, input, attributes = {}) => {
    const output = `${op_type}-${node.length}`;
    node.push({ input, output: [output], op_type, attribute: Object.entries(attributes).map(attribute) });
    return output;
  };
  /** Floats of these dimensions, or a list of whole numbers. */
  const constant = (values, dims = [values.length]) => {
    const name = `constant-${initializer.length}`;
    const floats = values instanceof Float32Array;
    const { buffer } = floats ? values : BigInt64Array.from(values, BigInt);
    const data_type = floats ? types.float : types.int64;
    initializer.push({ dims, data_type, name, raw_data: new Uint8Array(buffer) });
    return name;
  };
  const outputs = build({
    op,
    constant,
    matMul: (a, b) => op('MatMul', [a, b]),
    reshape: (rows, dims) => op('Reshape', [rows, constant(dims)]),
    transpose: (rows, perm) => op('Transpose', [rows], { perm }),
    concat: (parts) => op('Concat', parts, { axis: 0 }),
    add: (a, b) => op('Add', [a, b]),
    sub: (a, b) => op('Sub', [a, b]),
    div: (a, b) => op('Div', [a, b]),
    abs: (a) => op('Abs', [a]),
    sum: (a, axes) => op('ReduceSum', [a, constant(axes)], { keepdims: 0 }),
    mean: (a, axes) => op('ReduceMean', [a, constant(axes)], { keepdims: 0 }),
    max: (a, axes) => op('ReduceMax', [a, constant(axes)], { keepdims: 0 }),
  });
  const input = Object.entries(tables).map(([name, { rows, columns }]) => valueInfo(name, [rows, columns]));
  const output = outputs.map((name) => valueInfo(name));
  const graph = { node, name: 'graph', initializer, input, output };
  // Version 20 of the operators has Gelu, and version 9 of the format goes with it.
  return Model.encode({ ir_version: 9, graph, opset_import: [{ version: 20 }] }).finish();
}

/** Runs the graph that `build` makes for an input, on its summands. An answer is a list of outputs. */
export const onnxruntime = (ort, kind, build) => ({
  name: `onnxruntime-web${kind}`,
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
