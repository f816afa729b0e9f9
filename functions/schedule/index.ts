import type { Tick } from "../../shared/every.ts";
import { tick as advanceDueEnrollments } from "./advance-due-enrollments.ts";
import { tick as drainDueWork } from "./drain-due-work.ts";

export const ticks: Tick[] = [advanceDueEnrollments, drainDueWork];
