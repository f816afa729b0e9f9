import { group } from "../../shared/http/serve.ts";

export const suppressions = group("suppressions", []);
export const { handler } = suppressions;
