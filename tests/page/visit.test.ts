// The watch that all other tests rely on sees what it should.
import { expect, test } from 'vitest';
import { visit } from './support/visit.ts';

test('what the policy blocks, what is thrown and what is logged', async () => {
  const { page, complaints } = await visit();
  await page.evaluate(() => {
    const inline = document.createElement('script');
    inline.textContent = 'document.title = "injected"';
    document.head.append(inline);
    setTimeout(() => {
      throw new Error('thrown');
    });
    console.warn('logged');
  });
  await expect.poll(() => complaints.join('\n')).toMatch(/script-src-elem blocked inline/);
  await expect.poll(() => complaints.join('\n')).toMatch(/thrown/);
  expect(complaints).toContain('logged');
  expect(await page.title()).not.toBe('injected');
  complaints.length = 0;
});

// A page's policy does not bind its workers, so the request itself must be seen.
test('what the worker asks of another host', async () => {
  const { page, complaints } = await visit({
    site: (site) => site.prefix(/worker-.*\.js$/, "fetch('http://elsewhere.invalid/').catch(() => {});"),
  });
  // The worker starts for the first figure that comes near.
  await page.locator('superpose-figure').first().scrollIntoViewIfNeeded();
  await expect.poll(() => complaints.join('\n')).toMatch(/request to http:\/\/elsewhere\.invalid/);
  complaints.length = 0;
});
