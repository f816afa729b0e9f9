import { NestedStack, RemovalPolicy, Stack } from "aws-cdk-lib";
import {
  CfnIntegration,
  CfnRoute,
  type CfnStage,
  DomainName,
  HttpApi,
} from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { CfnPermission, type Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { RouteGroup } from "../../shared/http/dispatch.ts";
import { gatewayRoutes } from "../../shared/http/gateway-routes.ts";
import { createFunction, type FunctionContext } from "./lambda-function.ts";
import type { StackSettings } from "./settings.ts";

/**
 * The HTTP API: one function per group for the paths of the group, and the fallback function for
 * all other paths. Nested stacks keep each stack below the limit of 500 resources.
 */
export class ApiConstruct extends Construct {
  readonly http: HttpApi;
  readonly accessLog: LogGroup;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  /** The custom domain, if the settings name one. */
  readonly domain: DomainName | undefined;
  /** By bundle: `http/contacts`. */
  readonly functions: Map<string, Lambda>;

  constructor(scope: Construct, groups: RouteGroup[], context: Omit<FunctionContext, "publicUrl">) {
    super(scope, "Api");
    const { settings } = context;
    this.domain = customDomain(this, settings);
    this.http = new HttpApi(this, "Http", {
      apiName: `pennymail-${settings.stage}`,
      // Otherwise callers could bypass the custom domain, and a firewall in front of it.
      disableExecuteApiEndpoint: Boolean(this.domain),
      ...(this.domain && { defaultDomainMapping: { domainName: this.domain } }),
    });
    this.accessLog = this.limitAndLog(settings);
    this.publicUrl =
      settings.publicUrl ??
      (settings.domainName ? `https://${settings.domainName}` : this.http.apiEndpoint);
    const fullContext = { ...context, publicUrl: this.publicUrl };
    const stacks = {
      functions: new NestedStack(this, "Functions"),
      routes: new NestedStack(this, "Routes"),
    };
    const paths = Map.groupBy(gatewayRoutes(groups), ({ group }) => group);
    const entries = [...paths].map(([name, routes]) => ({
      name,
      routeKeys: routes.map(({ path }) => `ANY ${path}`),
    }));
    this.functions = new Map(
      [...entries, { name: "fallback", routeKeys: ["$default"] }].map(({ name, routeKeys }) => {
        const fn = createFunction(stacks.functions, fullContext, {
          bundle: `http/${name}`,
          // API Gateway waits at most 30 seconds.
          timeoutSeconds: 29,
          memoryMegabytes: 1024,
        });
        this.addRoutes(stacks.routes, { name, routeKeys }, fn);
        return [`http/${name}`, fn];
      }),
    );
  }

  /**
   * Throttling protects the functions of the account from overload. The access log also contains
   * refused requests.
   */
  private limitAndLog({ requestsPerSecond }: StackSettings): LogGroup {
    const log = new LogGroup(this, "AccessLog", {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = this.http.defaultStage!.node.defaultChild as CfnStage;
    stage.defaultRouteSettings = {
      throttlingRateLimit: requestsPerSecond,
      throttlingBurstLimit: 2 * requestsPerSecond,
    };
    stage.accessLogSettings = {
      destinationArn: log.logGroupArn,
      format: JSON.stringify(accessLogFields),
    };
    return log;
  }

  private addRoutes(
    scope: NestedStack,
    { name, routeKeys }: { name: string; routeKeys: string[] },
    fn: Lambda,
  ) {
    const { apiId } = this.http;
    const integration = new CfnIntegration(scope, `${name}-integration`, {
      apiId,
      integrationType: "AWS_PROXY",
      integrationUri: fn.functionArn,
      payloadFormatVersion: "2.0",
    });
    for (const routeKey of routeKeys)
      new CfnRoute(scope, routeKey, { apiId, routeKey, target: `integrations/${integration.ref}` });
    const permissions = new Construct(scope, `${name}-permissions`);
    for (const callers of new Set(routeKeys.map(callersOf)))
      new CfnPermission(permissions, callers, {
        action: "lambda:InvokeFunction",
        functionName: fn.functionArn,
        principal: "apigateway.amazonaws.com",
        sourceArn: Stack.of(this).formatArn({
          service: "execute-api",
          resource: apiId,
          resourceName: callers,
        }),
      });
  }
}

// Without IP addresses of people and without query strings, which may contain secrets.
const accessLogFields = {
  requestId: "$context.requestId",
  at: "$context.requestTime",
  routeKey: "$context.routeKey",
  status: "$context.status",
  milliseconds: "$context.responseLatency",
  bytes: "$context.responseLength",
  error: "$context.error.message",
  integrationError: "$context.integrationErrorMessage",
};

/**
 * The calls that a permission covers, as `<stage>/<method>/<path>`. API Gateway calls a function as
 * `$default/GET/api/v1/contacts/...`, and without a matching route as `$default/$default`.
 */
const callersOf = (routeKey: string): string =>
  routeKey === "$default" ? "*/*" : `*/*${routeKey.replace("ANY ", "").replace(/{.+?}/g, "*")}`;

function customDomain(
  scope: ApiConstruct,
  { domainName, certificateArn }: StackSettings,
): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  const certificate = Certificate.fromCertificateArn(scope, "Certificate", certificateArn);
  return new DomainName(scope, "Domain", { domainName, certificate });
}
