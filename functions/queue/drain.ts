import { consume } from "../../shared/consume.ts";
import * as due from "../../shared/domain/sending/due.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.drain, ({ what, shard }) => due.drain(what, shard));
export const { handler } = worker;
