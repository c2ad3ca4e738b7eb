// A Vitest reporter: writes the numbers of passed, failed and skipped tests by project to the file
// SUPERPOSE_COUNTS.
import { writeFileSync } from 'node:fs';

export default class {
  onTestRunEnd(modules) {
    const counts = {};
    for (const module of modules) {
      // The name of a project that runs in a browser also has the browser's.
      const project = module.project.name.match(/\w+/)[0];
      counts[project] ??= { passed: 0, failed: 0, skipped: 0 };
      const before = counts[project].failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        counts[project][state === 'passed' || state === 'failed' ? state : 'skipped'] += 1;
      }
      // A file that cannot even be loaded has failed, but has no failed test.
      if (module.state() === 'failed' && counts[project].failed === before) counts[project].failed += 1;
    }
    writeFileSync(process.env.SUPERPOSE_COUNTS, JSON.stringify(counts));
  }
}
