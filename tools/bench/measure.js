// Measures a job at a shape in every runtime. Each engine is checked first, and the right ones take turns
// within a round, so that drift of the machine affects all alike.
import { summary, withRatios } from './statistics.js';

/** An engine has been timed enough after this long and at least three rounds. */
const enoughMs = 2000;

/** Rows for the table; a wrong engine's row has `wrong` and no times. */
export async function measure(runtimes, job, shape, rounds) {
  const rows = [];
  const timed = [];
  for (const runtime of runtimes) {
    for (const { engine, peer, right, error, why, time } of await runtime.order({ job: job.name, shape })) {
      const row = { job: job.name, engine, runtime: runtime.name, ...shape, peer };
      if (!right) rows.push({ ...row, wrong: why ?? `off by ${error} of the largest value` });
      else timed.push({ row, runtime, times: time === undefined ? [] : [time], spent: 0 });
    }
  }
  for (let round = 0; round < (job.once ? 0 : rounds); round++) {
    for (const runtime of runtimes) {
      const due = timed.filter(
        (one) => one.runtime === runtime && (one.times.length < 3 || one.spent < enoughMs),
      );
      if (due.length === 0) continue;
      const times = await runtime.order({ round: due.map(({ row }) => row.engine) });
      for (const one of due) {
        one.times.push(times[one.row.engine]);
        one.spent += times[one.row.engine];
      }
    }
  }
  return [...withRatios(timed.map(({ row, times }) => ({ ...row, ...summary(times) }))), ...rows];
}
