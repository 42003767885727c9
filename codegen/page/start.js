document.title = report.program + ' · Heddle';
append(document.getElementById('summary'), summary());
append(document.getElementById('sections'), [steps(), drawing(), passes(), cuts(), memory()]);
watch(inspect);
const first = report.steps.findIndex(
    (step) => step.kernels.some((kernel) => !report.kernels[kernel].stands_by));
if (report.steps.length)
  select_step(Math.max(0, first));
else if (report.groups.length)
  select_group(report.groups[0].id);
else
  tell();
