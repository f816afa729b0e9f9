import { consume } from "../../shared/consume.ts";
import * as systemMail from "../../shared/domain/system-mail.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.systemMail, systemMail.deliver);
export const { handler } = worker;
