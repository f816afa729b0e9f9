// Shares reads between callers that ask for the same at the same time.

/**
 * Returns a function that reads the value of a key. Callers that wait for the same key share one
 * read. It begins after all of them asked, so each sees every change that was answered before.
 */
export function createSharedReads<T>(): (key: string, read: () => Promise<T>) => Promise<T> {
  const readsByKey = new Map<string, { running?: Promise<T>; next?: Promise<T> | undefined }>();
  return (key, read) => {
    const reads = readsByKey.get(key) ?? {};
    readsByKey.set(key, reads);
    const readAfterRunning = async (): Promise<T> => {
      await reads.running?.catch(() => {});
      const own = reads.next!;
      reads.running = own;
      reads.next = undefined;
      try {
        return await read();
      } finally {
        if (!reads.next) readsByKey.delete(key);
      }
    };
    reads.next ??= readAfterRunning();
    return reads.next;
  };
}
