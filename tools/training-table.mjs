// The table of ten schemes and the floor by five tasks in web/docs/training.md: node tools/training-table.mjs
// [--seeds N]. Runs the command, and prints its measurements above the expected values, as Markdown.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './steps.mjs';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '10' } } });
const tasks = ['badge', 'lookup', 'roll', 'prev', 'rev'];

/**
 * The command's names, the table's names, and the expected values: from another program, also with ten seeds.
 */
const schemes = {
  floor: ['all scores 0', '.45', '.21', '.39', '.20', ''],
  none: ['none', '1.00 (59)', '.19', '.39', '.20', '.19'],
  add: ['add', '1.00 (58)', '1.00 (46)', '1.00 (97)', '1.00 (41)', '1.00 (43)'],
  'add:sinusoid': ['add, sinusoid', '1.00 (60)', '1.00 (86)', '.99, 7 of 10', '1.00 (74)', '1.00 (81)'],
  'concat:16': ['concat 16 + 16', '1.00 (72)', '1.00 (50)', '1.00 (109)', '1.00 (43)', '1.00 (40)'],
  'concat:8': ['concat 24 + 8', '1.00 (59)', '1.00 (51)', '1.00 (90)', '1.00 (51)', '1.00 (52)'],
  'concat:24': ['concat 8 + 24', '1.00 (118)', '1.00 (52)', '.99, 7 of 10', '1.00 (44)', '1.00 (40)'],
  untied: ['untied', '1.00 (48)', '.18', '.39', '1.00 (72)', '1.00 (72)'],
  rope: ['RoPE', '1.00 (51)', '.31', '.40', '1.00 (67)', '.25'],
  alibi: ['ALiBi', '1.00 (55)', '.19', '.39', '.27', '.19'],
  t5: ['T5', '1.00, 9 of 10', '.19', '.39', '.83', '.28'],
};

const command = ['train', '--task', tasks.join(','), '--schemes', Object.keys(schemes).join(',')];
const answer = execFileSync(
  process.execPath,
  [join(root, 'build/package/node/command.js'), ...command, '--seeds', values.seeds, '--json'],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
);
const { rows } = JSON.parse(answer);

/** For example 1.000 (58). Adds how many runs reached 99 % if not all did, and the deviation if it shows. */
function cell({ accuracy, standardDeviation, reached, seeds, stepsTo99 }) {
  const spread = standardDeviation >= 0.0005 ? ` ± ${standardDeviation.toFixed(3)}` : '';
  const steps = stepsTo99 === null ? '' : ` (${stepsTo99.toFixed(0)})`;
  return `${accuracy.toFixed(3)}${spread}${steps}${reached > 0 && reached < seeds ? `, ${reached} of ${seeds}` : ''}`;
}

const line = (cells) => `| ${cells.join(' | ')} |`;
const lines = [line(['', '', ...tasks]), line(['', '', ...tasks].map(() => '---'))];
for (const [scheme, [name, ...expected]] of Object.entries(schemes)) {
  const found = tasks.map((task) => cell(rows.find((row) => row.task === task && row.scheme === scheme)));
  lines.push(line([name, 'measured', ...found]), line(['', 'expected', ...expected]));
}
console.log(`\`superpose ${command.join(' ')} --seeds ${values.seeds}\`\n\n${lines.join('\n')}`);
