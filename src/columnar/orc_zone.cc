#include "columnar/orc_zone.hh"

#include <arrow/compute/api.h>
#include <arrow/scalar.h>

#include "columnar/fields.hh"

namespace columnar
{

namespace
{

std::string
zone_of_stripe(const std::string &raw)
{
    enum { ZONE = 3 };
    std::string zone;
    Fields footer(reinterpret_cast<const uint8_t *>(raw.data()), raw.size());

    while (footer.next()) {
        if (footer.field() == ZONE && footer.bytes() != nullptr) {
            zone.assign(reinterpret_cast<const char *>(footer.bytes()), footer.value());
        }
    }
    return zone;
}

bool
is_utc(const std::string &zone)
{
    return zone.empty() || zone == "UTC" || zone == "GMT" || zone == "Etc/UTC";
}

} // namespace

arrow::Result<int64_t>
zone_offset_of(const OrcStripes &stripes, Source &source)
{
    std::string zone;

    for (size_t i = 0; i < stripes.size(); i++) {
        ARROW_ASSIGN_OR_RAISE(const std::string raw, stripes.footer(i, source));
        const std::string next = zone_of_stripe(raw);

        if (i > 0 && next != zone) {
            return arrow::Status::NotImplemented("times near 1970 in stripes of the time zones ",
                                                 zone, " and ", next);
        }
        zone = next;
    }
    if (is_utc(zone)) {
        return 0;
    }
    const auto local = arrow::MakeScalar(arrow::timestamp(arrow::TimeUnit::SECOND), int64_t(0));
    const arrow::compute::AssumeTimezoneOptions options(
        zone, arrow::compute::AssumeTimezoneOptions::AMBIGUOUS_EARLIEST,
        arrow::compute::AssumeTimezoneOptions::NONEXISTENT_EARLIEST);

    ARROW_ASSIGN_OR_RAISE(const auto moment, local);
    const auto instant = arrow::compute::CallFunction("assume_timezone", {moment}, &options);

    if (!instant.ok()) {
        return arrow::Status::NotImplemented("times near 1970 of the time zone ", zone, ": ",
                                             instant.status().message());
    }
    return -instant->scalar_as<arrow::TimestampScalar>().value;
}

} // namespace columnar
