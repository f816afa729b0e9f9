import { NestedStack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute, DomainName, HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Function as Lambda } from "aws-cdk-lib/aws-lambda";
import { Construct } from "constructs";
import type { Group } from "../../shared/http/serve.ts";
import { type House, lambda } from "./function.ts";
import type { Settings } from "./settings.ts";

/** One function per group, one gateway route per route; what no route matches goes to the fallback function. In stacks of their own, as a stack holds 500 resources. */
export class Api extends Construct {
  readonly http: HttpApi;
  /** Without a trailing slash. */
  readonly publicUrl: string;

  constructor(scope: Construct, groups: Group[], house: Omit<House, "publicUrl">) {
    super(scope, "Api");
    const { settings } = house;
    const domain = ownDomain(this, settings);
    this.http = new HttpApi(this, "Http", {
      apiName: `pennymail-${settings.stage}`,
      ...(domain && { defaultDomainMapping: { domainName: domain } }),
    });
    this.publicUrl = settings.publicUrl ?? (settings.domainName ? `https://${settings.domainName}` : this.http.apiEndpoint);
    const whole = { ...house, publicUrl: this.publicUrl };
    const [functions, routes] = [new NestedStack(this, "Functions"), new NestedStack(this, "Routes")];
    for (const group of groups) if (group.routes.length) this.route(routes, group, this.serve(functions, group.name, whole));
    this.route(routes, { name: "fallback", routes: [{ key: "$default" }] }, this.serve(functions, "fallback", whole));
  }

  private serve(scope: NestedStack, name: string, house: House): Lambda {
    // API Gateway waits 30 seconds at most.
    const fn = lambda(scope, `http/${name}`, house, { timeoutSeconds: 29, memoryMegabytes: 1024 });
    // One permission for the function, not one for each of its routes.
    fn.addPermission("Gateway", {
      principal: new ServicePrincipal("apigateway.amazonaws.com"),
      sourceArn: this.http.arnForExecuteApi("*", "/*", "*"),
    });
    return fn;
  }

  private route(scope: NestedStack, { name, routes }: { name: string; routes: { key: string }[] }, fn: Lambda) {
    const { apiId } = this.http;
    const integration = new CfnIntegration(scope, `${name}-integration`, {
      apiId,
      integrationType: "AWS_PROXY",
      integrationUri: fn.functionArn,
      payloadFormatVersion: "2.0",
    });
    for (const { key } of routes) new CfnRoute(scope, key, { apiId, routeKey: key, target: `integrations/${integration.ref}` });
  }
}

function ownDomain(scope: Api, { domainName, certificateArn }: Settings): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  return new DomainName(scope, "Domain", { domainName, certificate: Certificate.fromCertificateArn(scope, "Certificate", certificateArn) });
}
