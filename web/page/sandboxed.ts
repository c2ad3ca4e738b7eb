// Explains why the page cannot compute in a sandbox: browsers extend a frame's sandbox to the tabs that its
// links open, where no worker starts and no link leads out.

/** Shows a sentence that stays in sight, with the address to copy. */
export function sayWhy(): void {
  const line = document.createElement('p');
  line.className = 'warning';
  line.style.cssText =
    'position:fixed;inset:auto 0 0;z-index:9;margin:0;padding:0.6rem 1rem;background:var(--paper);border-top:1px solid var(--line);overflow-wrap:anywhere';
  line.setAttribute('role', 'status');
  const link = document.createElement('a');
  const name = () => {
    link.href = link.textContent = location.href;
  };
  name();
  window.addEventListener('hashchange', name);
  line.append(
    'This page is in a sandbox, as is every tab that a sandboxed frame opens, and cannot compute anything. Copy its address into a new tab: ',
    link,
  );
  document.body.prepend(line);
}
