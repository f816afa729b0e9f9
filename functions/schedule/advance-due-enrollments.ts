import * as dueEnrollments from "../../shared/domain/automation/due-enrollments.ts";
import { everyMinutes } from "../../shared/schedules.ts";

export const schedule = everyMinutes(1, "advance-due-enrollments", dueEnrollments.enqueueDueShards);
export const { handler } = schedule;
