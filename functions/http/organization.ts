import { group } from "../../shared/http/serve.ts";

export const organization = group("organization", []);
export const { handler } = organization;
