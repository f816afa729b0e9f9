import { Pennymail } from "pennymail";

/** The API of this service. The browser sends the session cookie, so there is no key. */
export const api = new Pennymail({ baseUrl: location.origin, maxRetries: 2 });
