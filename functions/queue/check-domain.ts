import { consume } from "../../shared/consume.ts";
import * as checks from "../../shared/domain/domains/checks.ts";
import { queues } from "../../shared/queues.ts";

export const worker = consume(queues.checkDomain, ({ orgId, domainId }) => checks.check(orgId, domainId));
export const { handler } = worker;
