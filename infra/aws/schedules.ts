import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Tick } from "../../shared/every.ts";
import { type House, lambda } from "./function.ts";

/** One function per tick, at functions/schedule/<tick name>.ts. */
export class Schedules extends Construct {
  readonly functions: Lambda[];

  constructor(scope: Construct, ticks: Tick[], house: House) {
    super(scope, "Schedules");
    this.functions = ticks.map(({ name, minutes }) => {
      const fn = lambda(this, `schedule/${name}`, house, { timeoutSeconds: 60, memoryMegabytes: 512 });
      new Rule(this, `${name}-rule`, { schedule: Schedule.rate(Duration.minutes(minutes)), targets: [new LambdaFunction(fn)] });
      return fn;
    });
  }
}
