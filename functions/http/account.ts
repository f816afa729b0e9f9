import { group } from "../../shared/http/serve.ts";

export const account = group("account", []);
export const { handler } = account;
