import "./styles.css";
import { MantineProvider, mergeThemeOverrides } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { createRoot } from "react-dom/client";
import { queryClient } from "./data/query-client.ts";
import { language, t } from "./language/translate.ts";
import { router } from "./router.tsx";
import { theme } from "./theme.ts";

document.documentElement.lang = language;

const inLanguage = {
  components: { Modal: { defaultProps: { closeButtonProps: { "aria-label": t("Close") } } } },
};

// The CSS variables come from a style sheet, so the policy needs to allow no style elements.
createRoot(document.querySelector("#root")!).render(
  <MantineProvider
    theme={mergeThemeOverrides(theme, inLanguage)}
    defaultColorScheme="auto"
    withCssVariables={false}
    withGlobalClasses={false}
  >
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Notifications position="bottom-center" />
    </QueryClientProvider>
  </MantineProvider>,
);
