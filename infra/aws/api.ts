import { NestedStack, type Stack } from "aws-cdk-lib";
import { CfnIntegration, CfnRoute, DomainName, HttpApi } from "aws-cdk-lib/aws-apigatewayv2";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { Group } from "../../shared/http/serve.ts";
import { type House, lambda } from "./function.ts";
import type { Settings } from "./settings.ts";

/** One function per group, one gateway route per route; what no route matches goes to the fallback function. A stack of its own, as a stack holds 500 resources. */
export class Api extends NestedStack {
  readonly http: HttpApi;
  /** Without a trailing slash. */
  readonly publicUrl: string;

  constructor(scope: Stack, groups: Group[], house: Omit<House, "publicUrl">) {
    super(scope, "Api");
    const { settings } = house;
    const domain = ownDomain(this, settings);
    this.http = new HttpApi(this, "Http", {
      apiName: `pennymail-${settings.stage}`,
      ...(domain && { defaultDomainMapping: { domainName: domain } }),
    });
    this.publicUrl = settings.publicUrl ?? (settings.domainName ? `https://${settings.domainName}` : this.http.apiEndpoint);
    const whole = { ...house, publicUrl: this.publicUrl };
    for (const { name, routes } of groups)
      this.serve(
        name,
        routes.map(({ key }) => key),
        whole,
      );
    this.serve("fallback", ["$default"], whole);
  }

  private serve(name: string, routeKeys: string[], house: House) {
    if (!routeKeys.length) return;
    // API Gateway waits 30 seconds at most.
    const fn = lambda(this, `http/${name}`, house, { timeoutSeconds: 29, memoryMegabytes: 1024 });
    // One permission for the function, not one for each of its routes.
    fn.addPermission("Gateway", {
      principal: new ServicePrincipal("apigateway.amazonaws.com"),
      sourceArn: this.http.arnForExecuteApi("*", "/*", "*"),
    });
    const { apiId } = this.http;
    const integration = new CfnIntegration(this, `${name}-integration`, {
      apiId,
      integrationType: "AWS_PROXY",
      integrationUri: fn.functionArn,
      payloadFormatVersion: "2.0",
    });
    for (const routeKey of routeKeys) new CfnRoute(this, routeKey, { apiId, routeKey, target: `integrations/${integration.ref}` });
  }
}

function ownDomain(scope: Api, { domainName, certificateArn }: Settings): DomainName | undefined {
  if (!domainName || !certificateArn) return undefined;
  return new DomainName(scope, "Domain", { domainName, certificate: Certificate.fromCertificateArn(scope, "Certificate", certificateArn) });
}
