// Checks the layers of a transformer stack, and copies or reads their maps into the module, more than once
// if not all layers fit.
import * as check from '../check.js';
import type { Linear, Table } from '../table.js';
import type { ReadLayer, ReadMap, ReadTensor } from './readLayer.js';
import type { ResidentStack } from './residentStack.js';
import type { LayerRotary } from './transformerStackTypes.js';

const mapNames = ['query', 'key', 'value', 'output', 'up', 'gate', 'down'] as const;
/** The name of a map of a layer. */
export type MapName = (typeof mapNames)[number];

type NamedMap = readonly [name: MapName, map: Linear | ReadMap];
type NamedReadMap = readonly [name: MapName, map: ReadMap];

const isReadMap = (map: unknown): map is ReadMap =>
  typeof (map as ReadMap | undefined)?.weight?.read === 'function';

/** Checks a map that is read later: its shape, its place in its tensor, and its bias. */
function checkReadMap(name: string, map: ReadMap, shape: check.Extents): void {
  check.knownOptions(name, map, { weight: true, bias: true, place: true, of: true, transposed: true });
  check.knownOptions(`${name}.weight`, map.weight, { rows: true, columns: true, read: true });
  check.extents(`${name}.weight`, map.weight, shape);
  check.integer(`${name}.of`, map.of, 1);
  check.index(`${name}.place`, map.place, map.of);
  check.flag(`${name}.transposed`, map.transposed);
  if (map.bias !== undefined) check.floats(`${name}.bias`, map.bias, map.weight.rows);
  check.singles(`${name}.bias`, map.bias);
}

/**
 * Checks the maps of a layer: those in memory completely, and those that will be read as far as they are
 * known.
 */
function checkedMaps(stack: ResidentStack, layer: ReadLayer) {
  const { d, queryChannels, keyChannels } = stack;
  check.knownOptions('layer', layer, {
    query: true,
    key: true,
    value: true,
    output: true,
    attentionNorm: true,
    up: true,
    gate: true,
    down: true,
    mlpNorm: true,
    queryNorm: true,
    keyNorm: true,
    rotary: true,
  });
  const inner = layer.up?.weight?.rows;
  const shape: Record<MapName, check.Extents> = {
    query: { rows: queryChannels, columns: d },
    key: { rows: keyChannels, columns: d },
    value: { rows: keyChannels, columns: d },
    output: { rows: d, columns: queryChannels },
    up: { columns: d },
    gate: { rows: inner, columns: d },
    down: { rows: d, columns: inner },
  };
  const maps: NamedMap[] = [];
  let bytes = 0;
  let largestCopy = 0;
  for (const name of mapNames) {
    const map = layer[name];
    if (name === 'gate' && map === undefined) continue;
    if (isReadMap(map)) {
      checkReadMap(name, map, shape[name]);
    } else {
      const { weight, bias } = check.linear(name, map, shape[name]);
      check.singles(`${name}.weight.data`, weight.data);
      check.singles(`${name}.bias`, bias);
      largestCopy = Math.max(largestCopy, 4 * weight.data.length);
    }
    const checked = map as Linear | ReadMap;
    maps.push([name, checked]);
    bytes += checked.weight.rows * checked.weight.columns * 4;
  }
  return { maps, bytes, largestCopy };
}

/**
 * Adds a layer. If that fails, the stack is as it was. Throws RangeError, TypeError, and the errors of
 * reads.
 */
export async function addedLayer(stack: ResidentStack, layer: ReadLayer): Promise<void> {
  stack.address();
  if (stack.lastPass?.isDone === false) {
    throw new Error('A forward pass of this transformer stack is running. Add layers when it has ended.');
  }
  await setLayer(stack, stack.layers.length, layer);
}

/**
 * Makes sure that a layer is in memory and stays there until another one is used. If room is needed, the
 * last layers are released first. Throws RangeError, and the errors of reads.
 */
export async function useLayer(stack: ResidentStack, number: number): Promise<void> {
  stack.layerInUse = number;
  if (stack.isResident(number)) return;
  if (!stack.reader) throw new Error(`The transformer stack has no layer ${number}.`);
  await setLayer(stack, number, await stack.reader.read(number));
}

/** Adds the next layer, or sets a layer that was released. */
async function setLayer(stack: ResidentStack, number: number, layer: ReadLayer): Promise<void> {
  const { raw, d, d_head, checkedNorm } = stack;
  const address = stack.address();
  const { maps, bytes, largestCopy } = checkedMaps(stack, layer);
  const settings = {
    attentionNorm: checkedNorm('attentionNorm', layer.attentionNorm, d),
    mlpNorm: checkedNorm('mlpNorm', layer.mlpNorm, d),
    queryNorm: checkedNorm('queryNorm', layer.queryNorm, d_head),
    keyNorm: checkedNorm('keyNorm', layer.keyNorm, d_head),
    frequencies: checkedFrequencies(layer.rotary, d_head),
  };
  while (stack.residentBytes() + bytes > (stack.reader?.layerBytes ?? Infinity) && stack.releaseLayer()) {}
  // While a map is copied, a temporary copy of it takes memory beside the layer.
  check.requireMemory(
    `A layer of ${d} channels`,
    bytes + largestCopy,
    'A layer must fit as a whole, in float32.',
  );
  stack.addBytes(bytes);
  try {
    const addRows = (name: MapName, rows: Table, from: number) =>
      raw.readStackMap(stack.address(), name, rows, from);
    /** The maps that are read, by the function that reads their tensor. */
    const byTensor = new Map<ReadTensor, NamedReadMap[]>();
    for (const [name, map] of maps) {
      const { rows, columns } = map.weight;
      const alone = { place: 0, of: 1, transposed: false };
      raw.beginStackMap(address, name, rows, columns, map.bias ?? [], isReadMap(map) ? map : alone);
      if (isReadMap(map)) {
        byTensor.set(map.weight.read, [...(byTensor.get(map.weight.read) ?? []), [name, map]]);
      } else {
        addRows(name, map.weight, 0);
      }
    }
    for (const [readTensor, maps] of byTensor) {
      await readAllRows(readTensor, maps, (block, from) => {
        for (const [name] of maps) addRows(name, block, from);
      });
    }
    raw.setStackLayer(stack.address(), number, settings);
  } catch (error) {
    stack.addBytes(-bytes);
    if (stack.handle.isAlive()) raw.stopStackReading(stack.address());
    throw error;
  }
  stack.layers[number] = { bytes, isResident: true };
  stack.inner = Math.max(stack.inner, layer.up.weight.rows + (layer.gate?.weight.rows ?? 0));
}

/** The extents of the tensor that a map is read from. */
const tensorExtents = ({
  weight: { rows, columns },
  of,
  transposed,
}: ReadMap): [rows: number, columns: number] => (transposed ? [columns, of * rows] : [of * rows, columns]);

/**
 * Reads a tensor to its end, and refuses blocks that are not its next rows, since the module trusts their
 * shapes.
 */
async function readAllRows(
  readTensor: ReadTensor,
  maps: readonly NamedReadMap[],
  visit: Parameters<ReadTensor>[0],
): Promise<void> {
  const [rows, columns] = tensorExtents(maps[0]?.[1] as ReadMap);
  for (const [name, map] of maps) {
    if (String(tensorExtents(map)) !== String([rows, columns])) {
      throw new RangeError(
        `${name} is read from a tensor of ${tensorExtents(map).join(' by ')}, and another map from the same one of ${rows} by ${columns}.`,
      );
    }
  }
  const name = `${maps[0]?.[0]}.weight.read`;
  let next = 0;
  await readTensor((block, from) => {
    check.table(`A block of ${name}`, block, { columns });
    if (from !== next || from + block.rows > rows) {
      throw new RangeError(
        `${name} must continue with row ${next} of ${rows}; it gives ${check.counted(block.rows, 'row')} from row ${check.shown(from)} on.`,
      );
    }
    next += block.rows;
    visit(block, from);
  });
  if (next < rows) check.refuseCount(name, `all ${check.counted(rows, 'row')} of its tensor`, next);
}

function checkedFrequencies(rotary: LayerRotary | undefined, d_head: number) {
  if (rotary === undefined) return undefined;
  check.knownOptions('rotary', rotary, { frequencies: true });
  const frequencies = check.floats('rotary.frequencies', rotary.frequencies);
  const most = Math.floor(d_head / 2);
  if (frequencies.length < 1 || frequencies.length > most) {
    const allowed =
      most === 0
        ? 'no values: a head of 1 channel has no pair'
        : `from 1 to ${most} values, one for each pair of a head’s ${d_head} channels`;
    check.refuseCount('rotary.frequencies', allowed, frequencies.length);
  }
  return frequencies;
}
