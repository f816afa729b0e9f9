// The CloudWatch dashboard for operators: mail, queues, requests and the table.
import { Duration } from "aws-cdk-lib";
import type { HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
} from "aws-cdk-lib/aws-cloudwatch";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { StatefulResources } from "./stateful-resources.ts";

interface DashboardTargets {
  stage: string;
  store: StatefulResources;
  http: HttpApi;
  /** Every function of the service, by bundle: `http/contacts`. */
  functions: Map<string, Lambda>;
  /** The access log of the API. */
  accessLog: ILogGroup;
}

const fiveMinutes = { period: Duration.minutes(5) };

export class MetricsDashboard extends Construct {
  readonly name: string;

  constructor(scope: Construct, { stage, store, http, functions, accessLog }: DashboardTargets) {
    super(scope, "Dashboard");
    this.name = `Pennymail-${stage}`;
    const dashboard = new CloudWatchDashboard(this, "Page", {
      dashboardName: this.name,
      defaultInterval: Duration.hours(12),
    });
    const queues = [...store.queues.values()];
    dashboard.addWidgets(
      mailQuery(functions),
      graph(
        "Oldest message, seconds",
        queues.map(({ queue, definition: { name: label } }) =>
          queue.metricApproximateAgeOfOldestMessage({
            ...fiveMinutes,
            statistic: "Maximum",
            label,
          }),
        ),
      ),
    );
    dashboard.addWidgets(
      graph(
        "Dead letters",
        queues.map(({ deadLetterQueue, definition: { name: label } }) =>
          deadLetterQueue.metricApproximateNumberOfMessagesVisible({
            ...fiveMinutes,
            statistic: "Maximum",
            label,
          }),
        ),
      ),
      graph("Requests and 5xx", [
        http.metricCount({ ...fiveMinutes, statistic: "Sum" }),
        http.metricServerError({ ...fiveMinutes, statistic: "Sum" }),
      ]),
    );
    dashboard.addWidgets(
      durationQuery(accessLog),
      graph("Table, units", [
        store.table.metricConsumedReadCapacityUnits({ ...fiveMinutes, statistic: "Sum" }),
        store.table.metricConsumedWriteCapacityUnits({ ...fiveMinutes, statistic: "Sum" }),
      ]),
    );
  }
}

const size = { width: 12, height: 7 };
const graph = (title: string, left: IMetric[]) => new GraphWidget({ title, left, ...size });

// Logs Insights queries cost only when the dashboard is open. With metrics in their place, it would
// exceed the 50 metrics of a free dashboard.

/** Queries the logs of all workers, because several of them call providers. */
function mailQuery(functions: Map<string, Lambda>): LogQueryWidget {
  const workers = [...functions].filter(([bundle]) => bundle.startsWith("queue/"));
  return new LogQueryWidget({
    title: "Mails handed over, failed, uncertain",
    logGroupNames: workers.map(([, { logGroup }]) => logGroup.logGroupName),
    queryLines: [
      'filter message = "provider call"',
      "stats sum(facts.accepted) as handedOver, sum(facts.refused) as failed, " +
        "sum(facts.uncertain) as uncertain by bin(5m)",
    ],
    ...size,
  });
}

const durationQuery = (accessLog: ILogGroup) =>
  new LogQueryWidget({
    title: "Duration by endpoint group, milliseconds",
    logGroupNames: [accessLog.logGroupName],
    queryLines: [
      "stats count() as requests, pct(milliseconds, 50) as p50, pct(milliseconds, 95) as p95 " +
        "by routeKey",
      "sort p95 desc",
    ],
    ...size,
  });
