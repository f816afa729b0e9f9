// What no route matches: OPTIONS, HEAD, unknown paths and wrong methods, answered like everything else.
import { fallback } from "../../shared/http/fallback.ts";
import { document } from "./interface.ts";

export const handler = fallback(document);
