import { Duration } from "aws-cdk-lib";
import { Rule, Schedule } from "aws-cdk-lib/aws-events";
import { LambdaFunction } from "aws-cdk-lib/aws-events-targets";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Schedule as ServiceSchedule } from "../../shared/schedules.ts";
import { createFunction, type FunctionContext } from "./lambda-function.ts";

/** One function per schedule, at functions/schedule/<schedule name>.ts. */
export class Schedules extends Construct {
  /** By bundle. */
  readonly functions: Map<string, Lambda>;

  constructor(scope: Construct, schedules: ServiceSchedule[], context: FunctionContext) {
    super(scope, "Schedules");
    this.functions = new Map(
      schedules.map(({ name, minutes }) => {
        const fn = createFunction(this, context, {
          bundle: `schedule/${name}`,
          timeoutSeconds: 60,
          memoryMegabytes: 512,
        });
        // The next run finds the same work, so an event that is minutes old need not be retried.
        const target = new LambdaFunction(fn, {
          retryAttempts: 2,
          maxEventAge: Duration.minutes(5),
        });
        new Rule(this, `${name}-rule`, {
          schedule: Schedule.rate(Duration.minutes(minutes)),
          targets: [target],
        });
        return [`schedule/${name}`, fn];
      }),
    );
  }
}
