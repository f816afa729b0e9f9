import { group } from "../../shared/http/serve.ts";

export const sites = group("sites", []);
export const { handler } = sites;
