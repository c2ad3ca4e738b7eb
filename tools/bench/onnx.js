// ONNX models written by hand: the few fields of onnx.proto3 that a graph of products needs.

const utf8 = new TextEncoder();

function varint(value) {
  const bytes = [];
  let rest = value;
  do {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return bytes;
}

function concat(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const number = (field, value) => Uint8Array.from([...varint(field * 8), ...varint(value)]);
const bytes = (field, content) =>
  concat([Uint8Array.from([...varint(field * 8 + 2), ...varint(content.length)]), content]);
const text = (field, content) => bytes(field, utf8.encode(content));
const message = (field, ...parts) => bytes(field, concat(parts));

const float = 1;
const int64 = 7;

const tensor = (name, dims, type, raw) =>
  message(5, ...dims.map((dim) => number(1, dim)), number(2, type), text(8, name), bytes(9, raw));

export const floats = (name, dims, values) =>
  tensor(name, dims, float, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));

export const integers = (name, values) =>
  tensor(name, [values.length], int64, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer));

const info = (field, name, dims) =>
  message(
    field,
    text(1, name),
    message(2, message(1, number(1, float), message(2, ...dims.map((dim) => message(1, number(1, dim)))))),
  );

/** A node; attributes are whole numbers or lists of them. */
export function node(type, inputs, output, attributes = {}) {
  const written = Object.entries(attributes).map(([name, value]) =>
    Array.isArray(value)
      ? message(5, text(1, name), ...value.map((one) => number(8, one)), number(20, 7))
      : message(5, text(1, name), number(3, value), number(20, 2)),
  );
  return message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, type), ...written);
}

/** A model from nodes, initializers, and named shapes of inputs and outputs, for a version of operators. */
export function model(nodes, initializers, inputs, outputs, opset = 17) {
  const shaped = (field, named) => Object.entries(named).map(([name, dims]) => info(field, name, dims));
  const graph = message(
    7,
    ...nodes,
    text(2, 'terms'),
    ...initializers,
    ...shaped(11, inputs),
    ...shaped(12, outputs),
  );
  return concat([number(1, opset < 19 ? 8 : 9), graph, message(8, number(2, opset))]);
}
