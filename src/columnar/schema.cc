// Ids of fields, which each format keeps under a key of its own.
#include <arrow/c/bridge.h>
#include <arrow/result.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/key_value_metadata.h>

#include <string>

#include "columnar/columnar.hh"

namespace columnar
{

namespace
{

std::shared_ptr<arrow::Field>
field_with_id(const arrow::Field &field, const char *key);

std::shared_ptr<arrow::DataType>
type_with_ids(const std::shared_ptr<arrow::DataType> &type, const char *key)
{
    if (type->id() == arrow::Type::LIST) {
        return arrow::list(field_with_id(*type->field(0), key));
    }
    if (type->id() == arrow::Type::MAP) {
        const auto &map = static_cast<const arrow::MapType &>(*type);

        return std::make_shared<arrow::MapType>(field_with_id(*map.key_field(), key),
                                                field_with_id(*map.item_field(), key),
                                                map.keys_sorted());
    }
    if (type->id() == arrow::Type::STRUCT) {
        arrow::FieldVector fields;

        for (const auto &field : type->fields()) {
            fields.push_back(field_with_id(*field, key));
        }
        return arrow::struct_(fields);
    }
    return type;
}

std::shared_ptr<arrow::Field>
field_with_id(const arrow::Field &field, const char *key)
{
    std::shared_ptr<const arrow::KeyValueMetadata> metadata;

    for (const char *known : {kParquetIdKey, kOrcIdKey}) {
        if (metadata == nullptr && field.metadata() != nullptr &&
            field.metadata()->Contains(known)) {
            metadata = arrow::key_value_metadata({key}, {*field.metadata()->Get(known)});
        }
    }
    return arrow::field(field.name(), type_with_ids(field.type(), key), field.nullable(), metadata);
}

std::shared_ptr<arrow::DataType>
type_without_times(const std::shared_ptr<arrow::DataType> &type)
{
    const auto without = [](const std::shared_ptr<arrow::Field> &field) {
        return field->WithType(type_without_times(field->type()));
    };

    if (type->id() == arrow::Type::TIME32) {
        return arrow::int32();
    }
    if (type->id() == arrow::Type::LIST) {
        return arrow::list(without(type->field(0)));
    }
    if (type->id() == arrow::Type::MAP) {
        const auto &map = static_cast<const arrow::MapType &>(*type);

        return std::make_shared<arrow::MapType>(without(map.key_field()), without(map.item_field()),
                                                map.keys_sorted());
    }
    if (type->id() == arrow::Type::STRUCT) {
        arrow::FieldVector fields;

        for (const auto &field : type->fields()) {
            fields.push_back(without(field));
        }
        return arrow::struct_(fields);
    }
    return type;
}

} // namespace

std::shared_ptr<arrow::Schema>
with_ids(const arrow::Schema &schema, const char *key)
{
    arrow::FieldVector fields;

    for (const auto &field : schema.fields()) {
        fields.push_back(field_with_id(*field, key));
    }
    return arrow::schema(fields);
}

std::shared_ptr<arrow::Schema>
without_times(const arrow::Schema &schema)
{
    arrow::FieldVector fields;

    for (const auto &field : schema.fields()) {
        fields.push_back(field->WithType(type_without_times(field->type())));
    }
    return arrow::schema(fields);
}

arrow::Result<std::shared_ptr<arrow::Schema>>
schema_of(const struct ArrowSchema &given)
{
    struct ArrowSchema borrowed = given;

    borrowed.release = [](struct ArrowSchema *schema) { schema->release = nullptr; };
    return arrow::ImportSchema(&borrowed);
}

int64_t
width_of(const arrow::DataType &type)
{
    if (arrow::is_fixed_width(type.id())) {
        return (static_cast<const arrow::FixedWidthType &>(type).bit_width() + 7) / 8;
    }
    return 0;
}

} // namespace columnar
