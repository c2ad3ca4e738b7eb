/**
 * Yields, for aborts to get through and shorter requests to go first. Browsers delay timers, not messages.
 */
export const breath = () =>
  new Promise<void>((go) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      go();
    };
    port2.postMessage(0);
  });
