// A budget bounds the work of rendering one mail. It counts units of work and not time, so that the
// same mail always succeeds or always fails. One unit is about the time of reading one character.
import type { Context } from "liquidjs";
import { invalid } from "../../errors.ts";

/** Maximum units of one mail. */
const mostUnits = 20_000_000;
/** Units that are reserved for each mail of a pool. */
const ownUnits = 500_000;
const poolUnits = 300_000_000;
/** For a subject in a list, which is at most 1,000 characters of Liquid. */
const subjectUnits = 100_000;
// CPU time, so that a busy machine refuses no mail. Usually the units end a rendering sooner.
const maxCpuMicroseconds = 1_000_000;

/** The units that the mails of one chunk or one request can use together, beyond their own. */
interface Pool {
  left: number;
}
export const newPool = (): Pool => ({ left: poolUnits });

export class Budget {
  #used = 0;
  readonly #limit: number;
  readonly #pool: Pool | undefined;
  readonly #cpuBefore = process.threadCpuUsage();

  constructor({ limit = mostUnits, pool }: { limit?: number; pool?: Pool | undefined } = {}) {
    this.#limit = limit;
    this.#pool = pool;
  }

  static forSubject(): Budget {
    return new Budget({ limit: subjectUnits });
  }

  get used(): number {
    return this.#used;
  }

  /** Throws if the budget is used up. liquidjs calls it too, with numbers from templates. */
  use(units: number): void {
    const count = Number(units);
    if (!(count > 0)) return;
    this.#used += count;
    if (this.#used > this.#limit) throw invalid("it takes too much work");
    const shared = Math.min(count, this.#used - ownUnits);
    if (!this.#pool || shared <= 0) return;
    this.#pool.left -= shared;
    if (this.#pool.left < 0)
      throw invalid("it takes too much work, and so did other mails of the same batch");
  }

  checkTime(): void {
    const { user, system } = process.threadCpuUsage(this.#cpuBefore);
    if (user + system > maxCpuMicroseconds) throw invalid("it takes too long");
  }

  /**
   * Uses units for everything in a value and returns their number. Filters can nest an array many
   * times, so that a small array stands for a very long text.
   */
  weigh(value: unknown): number {
    const before = this.#used;
    this.#visit(value);
    return this.#used - before;
  }

  #visit(value: unknown): void {
    this.use(typeof value === "string" ? 1 + value.length : 4);
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) for (const one of value) this.#visit(one);
    else if (isPlain(value)) for (const one of Object.entries(value)) this.#visit(one);
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The register of a context that holds the progress of its rendering. */
export const budgetKey = "progress";

/** The budget of the rendering that a context belongs to. */
export const budgetOf = (context: Context): Budget => context.memoryLimit as unknown as Budget;
