import { queryAll } from "../../shared/adapters/dynamodb/table.ts";
import type { AuditItem } from "../../shared/domain/audit/entries.ts";
import { sessionCookieName } from "../../shared/http/authenticate.ts";
import { ranges } from "../../shared/keys.ts";
import type { LambdaRequest } from "./lambda-requests.ts";

/** The stored entries of the audit log, oldest first. */
export const readAuditItems = (orgId: number): Promise<AuditItem[]> =>
  queryAll<AuditItem>(ranges.auditEntries(orgId), { consistent: true });

export const withSession = ({ token }: { token: string }): LambdaRequest => ({
  cookies: [`${sessionCookieName}=${token}`],
});
