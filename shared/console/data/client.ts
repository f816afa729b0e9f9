import { Pennymail } from "pennymail";

const settings = { baseUrl: location.origin, maxRetries: 2 };

/** The API of this service. The browser sends the session cookie, so there is no key. */
export const api = new Pennymail(settings);

/** Its requests go on when the page is left. */
export const lastingApi = new Pennymail({
  ...settings,
  fetch: (url, init) => fetch(url, { ...init, keepalive: true }),
});

/** What an answer says beside its data, such as that a sender is not verified. */
export interface Warned {
  warnings: string[];
}

/** Runs one request and adds the warnings of its answer to its data. */
export async function withWarnings<Data extends object>(
  run: (client: Pennymail) => Promise<Data>,
): Promise<Data & Warned> {
  let warnings: string[] = [];
  const response = ({ body }: { body: unknown }) => {
    warnings = (body as Partial<Warned> | undefined)?.warnings ?? [];
  };
  const data = await run(new Pennymail({ ...settings, hooks: { response } }));
  return { ...data, warnings };
}
