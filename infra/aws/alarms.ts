// Alarms, created if the setting alarmEmail is given. Each costs 10 cents a month.
import { Duration } from "aws-cdk-lib";
import type { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Topic } from "aws-cdk-lib/aws-sns";
import { EmailSubscription } from "aws-cdk-lib/aws-sns-subscriptions";
import { Construct } from "constructs";
import {
  type QueueWithDeadLetters,
  type StatefulResources,
  visibilityTimeout,
} from "./stateful-resources.ts";

interface AlarmTargets {
  stage: string;
  store: StatefulResources;
  http: HttpApi;
  /** Every function of the service, by bundle: `queue/send`. */
  functions: Map<string, Lambda>;
}

const fiveMinutes = { period: Duration.minutes(5) };
const oneMinute = { period: Duration.minutes(1) };

export class Alarms extends Construct {
  private readonly topic: Topic;

  constructor(scope: Construct, { stage, store, http, functions }: AlarmTargets, email: string) {
    super(scope, "Alarms");
    this.topic = createTopic(this, email);
    for (const pair of store.queues.values()) this.watchQueue(pair);
    for (const [bundle, fn] of functions)
      if (bundle.startsWith("schedule/")) this.watchSchedule(fn);
    this.alarm("errors", {
      description:
        "A function logged an error, timed out or crashed. Search the log groups for level ERROR.",
      metric: errorsIn([...functions.values()], stage),
    });
    this.alarm("server-errors", {
      description: "Requests are answered 5xx. Search the log groups for level ERROR.",
      metric: http.metricServerError({ ...fiveMinutes, statistic: "Sum" }),
      threshold: 5,
    });
    this.alarm("throttles", {
      description:
        "The account's quota of concurrent executions is used up. Ask AWS for a higher one.",
      metric: accountThrottles,
      threshold: 10,
    });
  }

  private watchQueue({ definition, queue, deadLetterQueue }: QueueWithDeadLetters) {
    const { name } = definition;
    this.alarm(`${name}-dead-letters`, {
      description: `Messages of ${name} failed for good. Fix the cause, then redrive them.`,
      metric: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        ...oneMinute,
        statistic: "Maximum",
      }),
    });
    this.alarm(`${name}-age`, {
      description: `Messages wait too long in the queue ${name}.`,
      metric: queue.metricApproximateAgeOfOldestMessage({ ...fiveMinutes, statistic: "Maximum" }),
      // After a crash, messages are invisible for the visibility timeout. That alone is normal.
      threshold: visibilityTimeout(definition).toSeconds() + 600,
    });
  }

  private watchSchedule(fn: Lambda) {
    this.alarm(`${fn.node.id}-stopped`, {
      description: "A schedule has not run for 10 minutes. Due work waits.",
      metric: fn.metricInvocations({ period: Duration.minutes(10), statistic: "Sum" }),
      comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
      missingData: TreatMissingData.BREACHING,
    });
  }

  private alarm(
    id: string,
    {
      description,
      metric,
      threshold = 1,
      comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      missingData = TreatMissingData.NOT_BREACHING,
    }: AlarmRule,
  ) {
    const alarm = new Alarm(this, id, {
      alarmDescription: description,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: comparison,
      treatMissingData: missingData,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
    alarm.addOkAction(new SnsAction(this.topic));
  }
}

interface AlarmRule {
  description: string;
  metric: IMetric;
  /** Default: 1. */
  threshold?: number;
  comparison?: ComparisonOperator;
  missingData?: TreatMissingData;
}

function createTopic(scope: Construct, email: string): Topic {
  const topic = new Topic(scope, "Topic", { enforceSSL: true });
  topic.grantPublish(new ServicePrincipal("cloudwatch.amazonaws.com"));
  topic.addSubscription(new EmailSubscription(email));
  return topic;
}

// Our log lines have a level. Lambda's lines about an invocation have a status (timeouts and
// crashes).
const errorPattern = FilterPattern.literal(
  '{ ($.level = "ERROR") || ($.record.status = "timeout") || ($.record.status = "error") }',
);

/** One metric that counts the error lines in the logs of all functions. */
function errorsIn(functions: Lambda[], stage: string): Metric {
  const metric = { metricNamespace: `Pennymail/${stage}`, metricName: "Errors" };
  for (const fn of functions)
    new MetricFilter(fn, "errors", {
      ...metric,
      logGroup: fn.logGroup as ILogGroup,
      filterPattern: errorPattern,
      metricValue: "1",
    });
  const { metricNamespace: namespace, metricName } = metric;
  return new Metric({ namespace, metricName, statistic: "Sum", ...fiveMinutes });
}

// The functions of an account share one quota, so the metric has no dimension.
const accountThrottles = new Metric({
  namespace: "AWS/Lambda",
  metricName: "Throttles",
  statistic: "Sum",
  ...fiveMinutes,
});
