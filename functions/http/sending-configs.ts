import { group } from "../../shared/http/serve.ts";

export const sendingConfigs = group("sending-configs", []);
export const { handler } = sendingConfigs;
