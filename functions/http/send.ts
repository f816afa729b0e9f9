import { group } from "../../shared/http/serve.ts";

export const send = group("send", []);
export const { handler } = send;
