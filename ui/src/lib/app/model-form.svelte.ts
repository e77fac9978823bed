/** Whether the form for a new model is open: the models page shows it, the button next to its title opens it. */
export const modelForm = $state({ open: false });
