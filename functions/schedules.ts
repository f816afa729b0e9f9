import type { Schedule } from "../shared/schedules.ts";
import { schedule as advanceDueEnrollments } from "./schedule/advance-due-enrollments.ts";
import { schedule as drainDueWork } from "./schedule/drain-due-work.ts";

export const schedules: Schedule[] = [advanceDueEnrollments, drainDueWork];
