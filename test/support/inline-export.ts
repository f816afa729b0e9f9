// An export as text, by its type.
import type { Caller } from "../../shared/caller.ts";
import type { ExportRequest } from "../../shared/domain/analytics/exports/exports.ts";
import * as inline from "../../shared/domain/analytics/exports/inline-export.ts";
import { exportSources } from "../../shared/domain/analytics/exports/sources.ts";

export const exportInline = (caller: Pick<Caller, "orgId">, request: ExportRequest) =>
  inline.exportInline(caller, request, exportSources[request.type as keyof typeof exportSources]);
