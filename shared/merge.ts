/** Several sequences, each from its greatest sort key down, as one in that order. */
export async function* newestOf<T extends { sk: string }>(feeds: AsyncGenerator<T>[]): AsyncGenerator<T> {
  const heads = await Promise.all(feeds.map((feed) => feed.next()));
  for (;;) {
    const open = heads.flatMap((head, i) => (head.done ? [] : [{ item: head.value, i }]));
    if (!open.length) return;
    const newest = open.reduce((best, one) => (one.item.sk > best.item.sk ? one : best));
    yield newest.item;
    heads[newest.i] = await feeds[newest.i]!.next();
  }
}
