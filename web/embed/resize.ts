// For a page whose frames hold figures, and whose host does not know their message: makes each as high as it
// says. <script src=".../resize.js"></script>
(() => {
  const most = 20_000;
  window.addEventListener('message', ({ data, source }) => {
    if (typeof data !== 'string' || data.length > 10_000 || !data.includes('iframe.resize')) return;
    try {
      const { context, height } = JSON.parse(data);
      if (context !== 'iframe.resize' || typeof height !== 'number' || !(height > 0)) return;
      for (const frame of document.querySelectorAll('iframe')) {
        if (frame.contentWindow === source) frame.style.height = `${Math.min(Math.ceil(height), most)}px`;
      }
    } catch {
      // Somebody else's message.
    }
  });
})();
