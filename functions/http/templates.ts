import { group } from "../../shared/http/serve.ts";

export const templates = group("templates", []);
export const { handler } = templates;
