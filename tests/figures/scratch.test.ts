import { test } from 'vitest';
import { rendered } from './rendered.ts';
const asks: [string, Record<string,string>][] = JSON.parse(process.env.ASKS ?? '[]');
test.each(asks)('%s %j', async (name, settings) => {
  const { figure, data, state } = await rendered(name, Object.entries(settings));
  console.log(name, JSON.stringify(settings), '\n', figure.describe(data, state), '\n', figure.readout(data, state, figure.firstCursor?.(data, state) ?? {i:0,j:0}).map((p: any) => typeof p === 'string' ? p : p.text).join(''));
});
