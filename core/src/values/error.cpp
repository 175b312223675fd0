// The text of errors.
#include <warpalign/error.hpp>

#include <utility>

namespace warpalign {

namespace {

std::string full_text(const std::string& message, const ErrorContext& context) {
  std::string text;
  if (!context.stage.empty()) text += context.stage + ": ";
  text += message;
  std::string where;
  const auto add = [&where](const std::string& part) {
    if (part.empty()) return;
    if (!where.empty()) where += ", ";
    where += part;
  };
  if (!context.call.empty() || !context.code.empty()) {
    add(context.call + (context.code.empty() ? "" : " returned " + context.code));
  }
  add(context.device);
  add(context.backend);
  if (!where.empty()) text += " (" + where + ")";
  if (!context.advice.empty()) text += ". " + context.advice;
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, const std::string& message, ErrorContext context)
    : std::runtime_error(full_text(message, context)),
      kind_(kind),
      message_(message),
      context_(std::move(context)) {}

Error::~Error() = default;

}  // namespace warpalign
