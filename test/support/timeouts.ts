/** In seconds: longer than any other timer of a test. */
const manualSeconds = 100;

/**
 * Sets the time limit of outgoing webhooks so high that no call reaches it until the test lets all
 * of them time out. A busy machine cannot make any other call time out.
 */
export function manualTimeouts(): { expire(): void } {
  const { setTimeout: start, clearTimeout: stop } = globalThis;
  const waiting = new Map<unknown, () => void>();
  process.env.WEBHOOK_TIMEOUT_SECONDS = String(manualSeconds);
  globalThis.setTimeout = ((callback: () => void, ms = 0, ...rest: []) => {
    const timer = start(callback, ms, ...rest);
    if (ms > (manualSeconds * 1000) / 2 && ms <= manualSeconds * 1000) waiting.set(timer, callback);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    waiting.delete(timer);
    stop(timer);
  };
  let isManual = true;
  return {
    expire() {
      if (!isManual) return;
      isManual = false;
      Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
      process.env.WEBHOOK_TIMEOUT_SECONDS = "2";
      for (const [timer, callback] of waiting) {
        stop(timer as NodeJS.Timeout);
        callback();
      }
      waiting.clear();
    },
  };
}
