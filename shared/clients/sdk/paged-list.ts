/** How a list gets its pages. */
export interface PageReader<Page> {
  /** Reads the page with these query parameters besides those of the caller. */
  read(position: Record<string, unknown>): Promise<Page>;
  /** The query parameters of the page after this one; undefined after the last page. */
  next(page: Page): Record<string, unknown> | undefined;
  /** Field of a page that has the items. */
  itemsName: string;
}

/**
 * A list. `await` returns the page that was asked for. `for await` yields all items from there on,
 * and reads further pages when they are needed.
 */
export class PagedList<Item, Page> extends Promise<Page> implements AsyncIterable<Item> {
  readonly #reader: PageReader<Page>;

  constructor(reader: PageReader<Page>) {
    super((resolve, reject) => reader.read({}).then(resolve, reject));
    this.#reader = reader;
  }

  /** `then` returns a usual promise. */
  static override get [Symbol.species]() {
    return Promise;
  }

  /** All pages from the one that was asked for. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    let page: Page = await this;
    while (true) {
      yield page;
      const position = this.#reader.next(page);
      if (!position) return;
      page = await this.#reader.read(position);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.pages())
      yield* (page as Record<string, Item[]>)[this.#reader.itemsName] ?? [];
  }
}
