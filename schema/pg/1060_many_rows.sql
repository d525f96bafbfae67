-- What a statement over many rows expects of each of them. The answer is true, or an error that ends the statement, so that
-- nothing of it stays and its members are done one by one.

CREATE OR REPLACE FUNCTION ff_expect_all(is_held boolean) RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    IF is_held THEN
        RETURN true;
    END IF;
    RAISE EXCEPTION 'a row of many is not what its statement expects' USING ERRCODE = 'FF001';
END
$$;
