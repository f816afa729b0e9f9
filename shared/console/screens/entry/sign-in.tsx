import { Anchor, Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useRouter, useSearch } from "@tanstack/react-router";
import { queries } from "../../data/queries.ts";
import { t } from "../../language/translate.ts";
import { AuthCard } from "../../parts/auth-card.tsx";
import { LanguageLinks } from "../../parts/language-choice.tsx";
import { SignInForm, singleSignOnUrl } from "../../parts/sign-in-form.tsx";

export function SignIn() {
  const { next = "/" } = useSearch({ strict: false });
  const signup = useQuery(queries.signup()).data;
  const enter = useEnter();
  return (
    <SignInForm
      title={t("Sign in")}
      Frame={AuthCard}
      singleSignOn={(email) => (
        <Button component="a" variant="default" href={singleSignOnUrl(email, next)}>
          {t("Sign in with single sign-on")}
        </Button>
      )}
      onEnter={enter}
    >
      <p className="quiet">
        <Anchor href="/reset-password">{t("Forgot your password?")}</Anchor>
      </p>
      {signup?.open && (
        <div className="stack auth-other">
          <p className="quiet">{t("Are you new here?")}</p>
          <Button component={Link} to="/sign-up" variant="default">
            {t("Create an account")}
          </Button>
        </div>
      )}
      <LanguageLinks />
    </SignInForm>
  );
}

/** Goes on to the screen that asked for the sign-in. */
export function useEnter(): () => Promise<void> {
  const { next = "/" } = useSearch({ strict: false });
  const queryClient = useQueryClient();
  const router = useRouter();
  return async () => {
    queryClient.clear();
    // Only an address of the console, so that no link can lead elsewhere after a sign-in.
    await router.navigate({ href: /^\/(?!\/)/.test(next) ? next : "/", replace: true });
  };
}
