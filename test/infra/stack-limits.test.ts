import { expect, inject, test } from "vitest";
import * as z from "zod";
import type { ServiceDefinition } from "../../infra/aws/stack.ts";
import { routeGroup } from "../../shared/http/dispatch.ts";
import { route } from "../../shared/http/route.ts";
import { handleEach } from "../../shared/kernel/queue-worker.ts";
import { queues } from "../../shared/queues.ts";
import { everyMinutes } from "../../shared/schedules.ts";
import type {} from "../support/setup/bundles.ts";
import { createEmptyBundles, synthesizeStack } from "../support/synthesized-stack.ts";

// CloudFormation accepts 500 resources.
const most = 450;

test("every stack has fewer than 450 resources", () => {
  const { sizes } = synthesizeStack(inject("dist"), {
    stage: "prod",
    alarmEmail: "ops@example.com",
  });
  expect(Math.max(...sizes)).toBeLessThan(most);
});

test("600 endpoints in 50 groups, 18 queues and 12 schedules stay below the limit", () => {
  const tables = grown({ groups: 50, routes: 600, queues: 18, schedules: 12 });
  const context = {
    stage: "prod",
    alarmEmail: "ops@example.com",
    domainName: "mail.example.com",
    certificateArn: "arn:aws:acm:eu-west-1:1:certificate/1",
  };
  const everything = {
    commands: ["Get", "Query", "Put", "SendMessageBatch", "Encrypt", "GetObject"],
    statements: ["INSERT"],
    queues: ["q0"],
    indexes: ["due"],
  };
  const service = synthesizeStack(
    createEmptyBundles(tables, everything, inject("dist")),
    context,
    tables,
  );
  expect(service.findAll("AWS::ApiGatewayV2::Route")).toHaveLength(2 * 50 + 1);
  expect(service.functions().size).toBe(50 + 1 + 18 + 12);
  expect(Math.max(...service.sizes)).toBeLessThan(most);
});

const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);

function grown(n: {
  groups: number;
  routes: number;
  queues: number;
  schedules: number;
}): ServiceDefinition {
  const work = async () => {};
  const one = { returns: z.null(), handle: async () => null };
  const routesOf = (group: number) =>
    numbers(n.routes / n.groups).map((i) =>
      route(`GET /g${group}${i ? `/r${i}` : ""}`, "One of many", one),
    );
  const many = numbers(n.queues).map((i) => ({ ...queues.send, name: `q${i}` }));
  return {
    groups: numbers(n.groups).map((i) => routeGroup(`g${i}`, routesOf(i))),
    queues: Object.fromEntries(many.map((queue) => [queue.name, queue])),
    workers: many.map((queue) => handleEach(queue, work)),
    schedules: numbers(n.schedules).map((i) => everyMinutes(1, `t${i}`, work)),
  };
}
