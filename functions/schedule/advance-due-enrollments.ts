import * as due from "../../shared/domain/sequences/due.ts";
import { every } from "../../shared/every.ts";

export const tick = every(1, "advance-due-enrollments", due.wakeAll);
export const { handler } = tick;
