import { group } from "../../shared/http/serve.ts";

export const reference = group("reference", []);
export const { handler } = reference;
